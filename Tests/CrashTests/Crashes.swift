import Testing

/// Tests of failures of the service, its data folder or its disk: each runs the built program, one test after
/// the other.
@Suite(.serialized) enum Crashes {}
