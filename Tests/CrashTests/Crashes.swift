import Testing

/// What must hold when the service, its folder or its disk come to grief: each test runs the built
/// program, one after the other.
@Suite(.serialized) enum Crashes {}
