import HTTPWire
import LosslessJSON
import Testing

@testable import Endpoints

struct ServicePartTests {
  private static func lines(_ parts: Set<ServicePart>) -> [String] {
    LarderRoutes.lines(for: [], hasPages: true, hasMetrics: true, parts: parts)
      .map { "\($0.method.name) \($0.pattern)" }
  }

  @Test(
    "A part that is off takes its own lines of the table, and no others",
    arguments: ServicePart.allCases)
  func takesItsLines(_ part: ServicePart) {
    let all = Self.lines(ServicePart.all)
    let left = Self.lines(ServicePart.all.subtracting([part]))
    let gone = all.filter { !left.contains($0) }
    #expect(gone.count >= 3, "\(part)")
    for line in gone { #expect(Self.lines([part]).contains(line), "\(line)") }
    for line in left {
      #expect(ServicePart.owning(String(line.split(separator: " ")[1])) != part, "\(line)")
    }
  }

  @Test(
    "A path belongs to a part by whole segments",
    arguments: [
      ("/v1/auth/sign-in", .accounts), ("/v1/authors", nil), ("/s3", .s3), ("/s3/", .s3),
      ("/s3x", nil), ("/v1/files", .files), ("/v1/files/{bucket}/{key*}", .files),
      ("/v1/admin/s3/keys", .s3), ("/v1/admin/sql", nil), ("/v1/queue/pause", .devices),
      ("/v1/operations/{name}", nil), ("/{path...}", nil),
    ] as [(String, ServicePart?)])
  func ownsWholeSegments(path: String, part: ServicePart?) {
    #expect(ServicePart.owning(path) == part)
  }

  @Test("The OpenAPI document loses the paths of parts that are off, and nothing else")
  func filtersTheDocument() {
    let document: JSONValue = [
      "openapi": "3.1.0",
      "paths": ["/v1/push/registration": ["get": 1], "/healthz": ["get": 2], "/s3": ["get": 3]],
    ]
    let filtered = ServicePart.all.subtracting([.push]).filter(openAPI: document)
    #expect(filtered["openapi"] == "3.1.0")
    #expect(filtered["paths"]?.members?.map(\.name) == ["/healthz", "/s3"])
    #expect(ServicePart.all.filter(openAPI: document) == document)
  }
}
