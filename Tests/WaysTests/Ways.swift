import Testing

/// All the ways, one test after the other: each starts servers of its own, and deadlines mean
/// nothing while forty of them share two cores.
@Suite(.serialized) enum Ways {}
