import Testing

/// The end-to-end tests of every way through the service, one test after the other: each starts servers of
/// its own, and deadlines mean nothing while forty tests share two cores.
@Suite(.serialized) enum Ways {}
