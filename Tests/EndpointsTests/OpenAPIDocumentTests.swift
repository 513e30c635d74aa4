import LosslessJSON
import Testing

@testable import Endpoints

struct OpenAPIDocumentTests {
  @Test func namesTheOperatingRoutes() throws {
    let document = OpenAPIDocument(operations: [], version: "1.2.3").value()
    #expect(document["openapi"] == "3.1.0")
    #expect(document["info"]?["version"] == "1.2.3")
    for path in ["/healthz", "/readyz", "/metrics", "/v1/operations", "/v1/admin/purge"] {
      #expect(document["paths"]?[path] != nil, "\(path)")
    }
  }
}
