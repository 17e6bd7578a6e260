"""Runs the tests of the comparison itself."""
import unittest

import differences_test
import recorded_test


def run_tests():
    """The numbers of passed and failed tests."""
    result = unittest.TestResult()
    for module in (differences_test, recorded_test):
        unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    for test, trace in result.failures + result.errors:
        print(f"FAILED {test}\n{trace}")
    wrong = len(result.failures) + len(result.errors)
    return result.testsRun - wrong, wrong
