import HTTPClient
import Testing

@testable import Gateway

struct RelayPlacesTests {
  @Test("Places are given back with the streams that have them, and writes get one above the limit")
  func places() {
    let places = RelayPlaces(streamsMax: 2)
    var taken = [places.take(), places.take()]
    #expect(taken.allSatisfy { $0 != nil })
    #expect(places.take() == nil && places.count == 2)
    taken.append(places.takeAlways())
    #expect(places.count == 3)
    taken.removeFirst()
    #expect(places.take() == nil && places.count == 2)
    taken.removeAll()
    #expect(places.count == 0)
    let again = places.take()
    #expect(again != nil && places.count == 1)
  }

  @Test("Streams leave connections for short requests")
  func shares() {
    let settings = LeaderForwarder.clientSettings
    #expect(settings.connectionsMax - RelayPlaces.streamsMax >= 1_000)
    #expect(settings.webSocketsMax >= RelayPlaces.streamsMax)
  }
}
