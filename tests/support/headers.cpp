// Empty: a target needs a source to precompile the headers of all suites.
