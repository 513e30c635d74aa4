import LosslessJSON
import Testing

@testable import Endpoints
@testable import Gateway

struct OpenAPIDocumentTests {
  @Test func namesTheOperatingRoutes() throws {
    let document = OpenAPIDocument(operations: [], version: "1.2.3").value()
    #expect(document["openapi"] == "3.1.0")
    #expect(document["info"]?["version"] == "1.2.3")
    for path in ["/healthz", "/readyz", "/metrics", "/v1/operations", "/v1/admin/purge"] {
      #expect(document["paths"]?[path] != nil, "\(path)")
    }
  }

  @Test("The words of operations, fragments and variables are shown, with defaults")
  func showsDescriptions() throws {
    let film = OperationDescription(
      name: "Film", description: "One film.",
      fragments: [(name: "FilmRow", text: "What a row shows.")], kind: .query, route: nil,
      variables: [
        OperationDescription.Variable(
          name: "first", description: "How many.", type: "Int! = 3", isRequired: false,
          defaultText: "3", shape: .nonNull(.int))
      ], policy: nil, role: nil, isOpen: true, isCacheable: false, reason: "never kept")
    let path = OpenAPIDocument(operations: [film], version: "1").value()["paths"]?[
      "/v1/operations/Film"]
    #expect(
      path?["get"]?["description"] == "One film.\n\nFilmRow: What a row shows.\n\nnever kept")
    let parameter = path?["get"]?["parameters"]?.array?.first
    #expect(parameter?["description"] == "How many. (Int! = 3)")
    #expect(parameter?["schema"]?["default"] == 3)
    let body = path?["post"]?["requestBody"]?["content"]?["application/json"]?["schema"]
    #expect(body?["properties"]?["first"]?["default"] == 3)
    #expect(body?["properties"]?["first"]?["description"] == "How many.")
  }
}
