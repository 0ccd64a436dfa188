//! Algorithms in MSCCL's XML.

use super::Sample;

/// Every type of step, two thread blocks a GPU, and a dependency that points ahead.
pub const XML: &str = r#"<?xml version="1.0"?>
<!-- an algorithm that computes nothing -->
<algo name="every &lt;type&gt;" proto="Simple" nchannels="2" nchunksperloop="4" ngpus="2" coll="custom" inplace="1">
  <gpu id="1" i_chunks="4" o_chunks="0" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="1">
      <step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="3" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="4" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="3" depid="-1" deps="-1" hasdep="0"/>
      <step s="5" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="3" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="0" i_chunks="4" o_chunks="0" s_chunks="0">
    <tb id="7" send="-1" recv="-1" chan="0">
      <step s="0" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0" depid="3" deps="2" hasdep="0"/>
      <step s="1" type="cpy" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"></step>
      <step s="2" type="re" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="3" deps="0" hasdep="0"/>
    </tb>
    <tb id="3" send="1" recv="1" chan="1">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="1"/>
      <step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="rcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
      <step s="3" type="rrcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="3" depid="7" deps="1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"#;

/// All of them.
pub fn all() -> Vec<Sample> {
    vec![Sample {
        format: "msccl",
        name: "every type",
        files: vec![("every.xml".into(), XML.into())],
        open: "every.xml",
    }]
}
