"""Puts the test double in the place of the core in every process that has this folder on PYTHONPATH."""

import os
import sys
import types

if os.environ.get("FABRICSIM_TEST_CORE") == "fake":

    class _Finder:
        """Answers the import of fabricsim._core with the double, and of nothing else."""

        @staticmethod
        def find_spec(name, path=None, target=None):
            if name != "fabricsim._core":
                return None
            from importlib.machinery import ModuleSpec

            return ModuleSpec(name, _Finder)

        @staticmethod
        def create_module(spec):
            import fake_core

            module = types.ModuleType(spec.name)
            module.__dict__.update({key: value for key, value in vars(fake_core).items() if not key.startswith("__")})
            module.__version__ = fake_core.__version__
            return module

        @staticmethod
        def exec_module(module):
            return None

    sys.meta_path.insert(0, _Finder)
