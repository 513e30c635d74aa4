import Synchronization

/// The share of a node's connections to the leader that streams can have: event streams, WebSockets, long polls, and
/// content that is sent at the pace of a client. Each occupies a connection for as long as its client likes.
///
/// The rest is for short requests, which the streams of many clients, or of one that opens many, cannot displace.
package final class RelayPlaces: Sendable {
  /// The connections of one node to the leader, besides those that WebSockets have.
  package static let connectionsMax = 4_096
  /// The streams of one node. A quarter of the connections is left for short requests, which need one for
  /// milliseconds.
  package static let streamsMax = 3_072

  package let streamsMax: Int
  private let taken = Atomic(0)

  package init(streamsMax: Int = RelayPlaces.streamsMax) {
    self.streamsMax = streamsMax
  }

  /// The number of streams.
  package var count: Int { taken.load(ordering: .relaxed) }

  /// Takes a place for a stream; nil if all are taken.
  func take() -> RelayPlace? {
    guard taken.add(1, ordering: .relaxed).newValue <= streamsMax else {
      giveBack()
      return nil
    }
    return RelayPlace(of: self)
  }

  /// Takes a place also above the limit, for the response to a write that was carried out.
  func takeAlways() -> RelayPlace {
    taken.add(1, ordering: .relaxed)
    return RelayPlace(of: self)
  }

  fileprivate func giveBack() { taken.subtract(1, ordering: .relaxed) }
}

/// The place of one stream, given back when it is released.
final class RelayPlace: Sendable {
  private let places: RelayPlaces

  fileprivate init(of places: RelayPlaces) {
    self.places = places
  }

  deinit { places.giveBack() }
}
