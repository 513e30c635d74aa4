import HTTPServer
import HTTPWire
import Model
import Testing

@testable import Endpoints

struct RouteEffectTests {
  private static let lines = LarderRoutes.lines(for: [], hasPages: true, hasMetrics: true)

  /// A line in this list is served to device tokens that only read: it must change nothing stored.
  @Test("Only these routes read by another method than GET")
  func readsByOtherMethods() {
    let reading = Self.lines.filter { $0.method != .get && $0.effect != .writes }
      .map { "\($0.method.name) \($0.pattern)" }
    #expect(
      Set(reading) == [
        "POST /v1/operations/{name}", "POST /v1/operations/{name}/diff", "POST /v1/graphql",
        "POST /v1/entities/{type}/diff", "POST /v1/entities/{type}/{id}/{relationship}/diff",
        "POST /v1/stream-tickets", "POST /v1/live", "PATCH /v1/live/{streamId}",
        "POST /v1/admin/explain", "POST /v1/admin/sql",
      ])
  }

  @Test(
    "A route writes unless its line says otherwise, and a GET reads",
    arguments: [
      (.get, .reads), (.post, .writes), (.put, .writes), (.patch, .writes), (.delete, .writes),
    ] as [(RequestMethod, RouteEffect)])
  func writesByDefault(method: RequestMethod, effect: RouteEffect) {
    let line = RouteLine(method, "/x") { _, request in
      .failure(Failure(.notFound, "Nothing here."), request: request)
    }
    #expect(line.effect == effect)
  }
}
