import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The examples in `/openapi.json`, which every caller reads: only what is public may be in them.
  struct OpenAPIExampleTests {
    private static let operations = [
      "all": """
      query OpenStudios @cache(maxAge: 60, scope: PUBLIC) { studios { id name } }
      query OpenFilm($id: ID!) @cache(maxAge: 60, scope: PUBLIC) { film(id: $id) { id title } }
      query OpenPeople($limit: Int = 5) @access(role: PUBLIC) @cache(maxAge: 60, scope: PUBLIC) {
        people(limit: $limit) { id name }
      }
      query OwnPeople @cache(maxAge: 60) { people(limit: 2) { id name } }
      query OwnSeries @cache(maxAge: 60) { allSeries(limit: 1) { id title } }
      query AdminTop @access(role: ADMIN) @cache(maxAge: 60, scope: PUBLIC) { topFilms { id title } }
      query DeviceTime @access(role: DEVICE) @cache(maxAge: 60, scope: PUBLIC) { serverTime }
      """
    ]

    private static let reads = [
      "OpenStudios", "OpenFilm?id=f1", "OpenPeople", "OpenPeople?limit=3", "OwnPeople", "OwnSeries",
      "AdminTop", "DeviceTime",
    ]

    private struct Document {
      let tag: String?
      /// The operations with examples, and the components.
      let operations: [String: JSONValue]
      let components: [String: JSONValue]
      let text: String
    }

    private static func document(
      _ larder: RunningLarder, _ headers: (String, String)...
    ) async throws -> Document {
      let response = try await larder.request("GET", "/openapi.json?full", headers: headers)
      let value = try JSONValue(parsing: response.body)
      var operations: [String: JSONValue] = [:]
      for path in value["paths"]?.members ?? [] {
        for method in path.value.members ?? [] {
          let content = method.value["responses"]?["200"]?["content"]?["application/json"]
          guard let examples = content?["examples"], path.name.hasPrefix("/v1/operations/") else {
            continue
          }
          operations[path.name, default: .null] = examples["stored"]?["value"] ?? .null
          #expect(method.name == "get", "\(path.name)")
        }
      }
      var components: [String: JSONValue] = [:]
      for component in value["components"]?["schemas"]?.members ?? [] {
        if let examples = component.value["examples"] { components[component.name] = examples }
      }
      return Document(
        tag: response["etag"], operations: operations, components: components, text: response.text)
    }

    @Test(
      "Examples are what a caller without credentials gets from open, public operations",
      arguments: [nil, "X-Api-Key: service"] as [String?],
      ["authorization", "authorization, x-app"])
    func matrix(service: String?, forward: String) async throws {
      let larder = try await RunningLarder.start(
        operations: Self.operations, service: service, forward: forward)
      let device = try JSONValue(
        parsing: try await larder.request(
          "POST", "/v1/devices", headers: [OperatingTests.admin], body: #"{"platform":"ios"}"#
        ).body)
      let token = try #require(device["deviceToken"]?.string)
      let callers: [[(String, String)]] = [
        [], [("Authorization", "Bearer user-ada")], [OperatingTests.admin],
        [("Device-Token", token)],
        [("X-App", "secret-app")],
      ]
      for caller in callers {
        for read in Self.reads {
          _ = try await larder.request("GET", "/v1/operations/\(read)", headers: caller)
        }
      }
      let document = try await Self.document(larder)
      #expect(
        Set(document.operations.keys) == [
          "/v1/operations/OpenStudios", "/v1/operations/OpenPeople",
        ])
      let studios = document.operations["/v1/operations/OpenStudios"]?["data"]?["studios"]?.array
      #expect(studios?.count == 2 && studios?.first?["name"] != nil, "lists are cut")
      for (name, example) in document.operations {
        #expect(example.bytes.count <= 2_048, "\(name)")
        // Exactly what an anonymous caller gets, but for the cut.
        let name = name.split(separator: "/").last ?? ""
        let own = try JSONValue(parsing: try await larder.get("/v1/operations/\(name)").body)
        let list = own["data"]?.members?.first
        let shown = example["data"]?.members?.first
        #expect(shown?.value.array == list?.value.array.map { Array($0.prefix(2)) }, "\(name)")
      }
      // Studios are selected by public queries alone; with a credential of the service stored data is
      // not open to anonymous callers.
      #expect(Set(document.components.keys) == (service == nil ? ["StudioEntity"] : []))
      #expect(document.components["StudioEntity"]?[0]?["_rev"] == nil)
      for secret in ["secret-app", "user-ada", "serverTime\":\""] {
        #expect(!document.text.contains(secret), "\(secret)")
      }
      // The same document for every caller.
      #expect(try await Self.document(larder, OperatingTests.admin).tag == document.tag)
      await larder.stop()
    }

    @Test("A document without stored data has no examples, and no call is made for them")
    func withoutData() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let before = larder.demo.report.requests
      let document = try await Self.document(larder)
      #expect(document.operations.isEmpty && document.components.isEmpty)
      #expect(larder.demo.report.requests == before)
      await larder.stop()
    }
  }
}
