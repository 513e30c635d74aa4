import HTTPServer
import HTTPWire
import LosslessJSON
import Testing

@testable import Endpoints
@testable import Gateway

/// The OpenAPI document and the route table tell of the same paths.
struct OpenAPIRouteTests {
  private static let operations = [
    operation("Films", .query, route: "/films"), operation("Film", .query, route: "/films/{id}"),
    operation("RateFilm", .mutation, route: "/films/{id}/rating"), operation("Plain", .query),
  ]

  private static func operation(
    _ name: String, _ kind: OperationDescription.Kind, route: String? = nil
  ) -> OperationDescription {
    OperationDescription(
      name: name, description: nil, fragments: [], kind: kind, route: route, variables: [],
      policy: nil, role: nil, isOpen: true, isCacheable: false, reason: "")
  }

  private static let lines = LarderRoutes.lines(for: operations, hasPages: false, hasMetrics: true)

  /// As `METHOD /path`.
  private static func documented() -> Set<String> {
    let paths = OpenAPIDocument(operations: operations, version: "1").value()["paths"]
    var documented: Set<String> = []
    for path in paths?.members ?? [] {
      for name in path.value.members?.map({ $0.name.uppercased() }) ?? []
      where RequestMethod(name: name) != nil {
        documented.insert("\(name) \(path.name)")
      }
    }
    return documented
  }

  /// A line of the table as the document has it: an operation is there by its name.
  private static func names(of line: RouteLine) -> [String] {
    let path = line.pattern.description.replacing("{key*}", with: "{key}")
    guard path.hasPrefix("/v1/operations/{name}") else { return ["\(line.method.name) \(path)"] }
    let isQueryOnly = line.method == .get || path.hasSuffix("/diff")
    return operations.filter { $0.kind == .query || !isQueryOnly }.map {
      "\(line.method.name) \(path.replacing("{name}", with: $0.name))"
    }
  }

  /// What stands behind a key is part of it for the table.
  private static let behindKeys = ["/uploads", "/presign", "/copy"]

  @Test func everyPathDocumentedIsServed() {
    let served = Set(Self.lines.flatMap(Self.names))
    let unknown = Self.documented().filter { path in
      !served.contains(path) && !Self.behindKeys.contains { path.hasSuffix("{key}" + $0) }
    }
    #expect(unknown.isEmpty, "\(unknown.sorted())")
  }

  @Test func everyLineIsDocumented() {
    let missing = Set(Self.lines.flatMap(Self.names)).subtracting(Self.documented())
    #expect(missing.isEmpty, "\(missing.sorted())")
  }
}
