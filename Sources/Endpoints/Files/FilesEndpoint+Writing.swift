import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

extension FilesEndpoint {
  func write(_ request: ServerRequest, _ query: FileQuery) async throws(Failure) -> ServerResponse {
    let address = try FileTarget.object(of: request)
    let grant = try await grant(request, query)
    let written = try await files.write(
      try request.upload(), at: address, attributes: FileFields.attributes(of: request),
      if: try WriteConditions.read(request), by: grant)
    return Self.answer(written, at: address)
  }

  func remove(
    _ request: ServerRequest, _ query: FileQuery
  ) async throws(Failure) -> ServerResponse {
    let address = try FileTarget.object(of: request)
    let grant = try await grant(request, query)
    // Gone is gone, as in S3, whether it was there or not.
    _ = try await files.remove(address, if: try WriteConditions.read(request), by: grant)
    return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
  }

  func copy(
    _ request: ServerRequest, _ source: ObjectAddress
  ) async throws(Failure) -> ServerResponse {
    let caller = try await context.caller(of: request)
    let target = try FileDocument.copyTarget(
      try await context.json(of: request), bucket: source.bucket)
    let written = try await files.copy(
      source, to: target, if: try WriteConditions.read(request), by: caller)
    return Self.answer(written, at: target)
  }

  func presign(
    _ request: ServerRequest, _ address: ObjectAddress
  ) async throws(Failure) -> ServerResponse {
    let caller = try await context.caller(of: request)
    let wish = try FileDocument.presigning(try await context.json(of: request))
    let link = try files.presign(wish.method, address, seconds: wish.seconds, by: caller)
    let body: JSONValue = [
      "url": .string("\(services.publicURL())\(FileTarget.path(of: address))?\(link.query)"),
      "expiresAt": .number(JSONNumber(link.expires.milliseconds)),
    ]
    return .json(body.bytes)
  }

  static func answer(_ written: WrittenFile, at address: ObjectAddress) -> ServerResponse {
    var response = ServerResponse.json(
      FileDocument.bytes(written.metadata, in: address.bucket),
      status: written.isNew ? .created : .ok)
    response.fields[.eTag] = FileFields.tag(written.metadata).text
    if written.isNew { response.fields[.location] = FileTarget.path(of: address) }
    return response
  }
}
