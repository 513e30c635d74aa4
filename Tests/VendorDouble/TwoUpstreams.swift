import HTTPClient
import HTTPTypes
import LosslessJSON
import Synchronization

/// A film library and a shop on ports of their own, of which the shop can hang.
package final class TwoUpstreams: Sendable {
  /// A request as an upstream received it.
  package struct Received: Sendable {
    package let operation: String
    /// By lower-case name.
    package let fields: [String: String]
  }

  private final class Log: Sendable {
    let requests = Mutex<[Received]>([])
  }

  package static let filmsSchema = """
    type Query { film(id: ID!): Film  user(id: ID!): User }
    type Mutation { rate(id: ID!, stars: Int!): Film }
    type Film { id: ID!  title: String  stars: Int }
    type User { id: ID!  name: String }
    """
  package static let filmsOperations = """
    query Film($id: ID!) @route(path: "/films/{id}") @cache(maxAge: 600) {
      film(id: $id) { id title stars }
    }
    query User($id: ID!) @cache(maxAge: 600) { user(id: $id) { __typename id name } }
    mutation Rate($id: ID!, $stars: Int!) @sync(object: "Film:$id", repeatable: true) {
      rate(id: $id, stars: $stars) { id stars }
    }
    """
  package static let shopSchema = """
    type Query { offers: [Offer!]!  user(id: ID!): User }
    type Mutation { buy(id: ID!): Offer }
    type Offer { id: ID!  filmId: ID!  price: Int!  sold: Boolean }
    type User { id: ID!  email: String }
    """
  package static let shopOperations = """
    query Offers @route(path: "/offers") @cache(maxAge: 600, scope: PUBLIC) {
      offers { id filmId price sold }
    }
    query Customer($id: ID!) @cache(maxAge: 600) { user(id: $id) { __typename id email } }
    mutation Buy($id: ID!) @sync(object: "Offer:$id", repeatable: true) { buy(id: $id) { id sold } }
    """

  private let films: VendorServer
  private let filmsLog = Log()
  private let shopLog = Log()
  private let shop = Mutex<(answering: VendorServer?, hanging: HangingServer?)>((nil, nil))
  private let shopPort: UInt16

  package init() async throws {
    films = try await VendorServer { [filmsLog] in Self.respond(to: $0, filmsLog, Self.film) }
    let first = try await VendorServer { [shopLog] in Self.respond(to: $0, shopLog, Self.offer) }
    shopPort = first.port
    shop.withLock { $0 = (first, nil) }
  }

  package var filmsURL: String { "http://127.0.0.1:\(films.port)/graphql" }
  package var shopURL: String { "http://127.0.0.1:\(shopPort)/graphql" }
  package var filmsRequests: [Received] { filmsLog.requests.withLock { $0 } }
  package var shopRequests: [Received] { shopLog.requests.withLock { $0 } }

  /// Makes the shop accept requests and respond to none.
  package func hang() async throws {
    await stopShop()
    let server = try await HangingServer(port: shopPort)
    shop.withLock { $0 = (nil, server) }
  }

  /// Makes the shop respond again.
  package func resume() async throws {
    await stopShop()
    let server = try await VendorServer(port: shopPort) { [shopLog] in
      Self.respond(to: $0, shopLog, Self.offer)
    }
    shop.withLock { $0 = (server, nil) }
  }

  package func stop() async {
    await films.stop()
    await stopShop()
  }

  private func stopShop() async {
    let (answering, hanging) = shop.withLock { $0 }
    await answering?.stop()
    await hanging?.stop()
  }

  // MARK: Responses

  private static func respond(
    to request: HTTPClientRequest, _ log: Log,
    _ answer: (_ operation: String, _ variables: JSONValue) -> JSONValue
  ) -> HTTPClientResponse {
    let body = (try? JSONValue(parsing: request.body)) ?? .null
    let operation = body["operationName"]?.string ?? ""
    let fields = Dictionary(
      request.fields.map { ($0.name.canonicalName, $0.value) }, uniquingKeysWith: { $1 })
    log.requests.withLock { $0.append(Received(operation: operation, fields: fields)) }
    return HTTPClientResponse(
      status: .ok, body: answer(operation, body["variables"] ?? [:]).bytes)
  }

  private static func film(_ operation: String, _ variables: JSONValue) -> JSONValue {
    let id = variables["id"] ?? "f1"
    switch operation {
    case "Film": return ["data": ["film": ["id": id, "title": "A film", "stars": 1]]]
    case "User": return ["data": ["user": ["__typename": "User", "id": id, "name": "Ada"]]]
    default:
      return ["data": ["rate": ["id": id, "stars": variables["stars"] ?? 0]]]
    }
  }

  private static func offer(_ operation: String, _ variables: JSONValue) -> JSONValue {
    let id = variables["id"] ?? "o1"
    switch operation {
    case "Offers":
      let offers: [(String, String, Int)] = [
        ("o1", "f1", 300), ("o2", "f2", 100), ("o3", "f1", 200),
      ]
      return [
        "data": [
          "offers": .array(
            offers.map { id, film, price in
              [
                "id": .string(id), "filmId": .string(film), "price": .number(JSONNumber(price)),
                "sold": false,
              ]
            })
        ]
      ]
    case "Customer":
      return ["data": ["user": ["__typename": "User", "id": id, "email": "ada@example.com"]]]
    default: return ["data": ["buy": ["id": id, "sold": true]]]
    }
  }
}
