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
    return Self.response(for: written, at: address)
  }

  func remove(
    _ request: ServerRequest, _ query: FileQuery
  ) async throws(Failure) -> ServerResponse {
    let address = try FileTarget.object(of: request)
    let grant = try await grant(request, query)
    // As in S3, deleting an object that does not exist succeeds.
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
    return Self.response(for: written, at: target)
  }

  func presign(
    _ request: ServerRequest, _ address: ObjectAddress
  ) async throws(Failure) -> ServerResponse {
    let caller = try await context.caller(of: request)
    let options = try FileDocument.presigning(try await context.json(of: request))
    let link = try files.presign(options.method, address, seconds: options.seconds, by: caller)
    let body: JSONValue = [
      "url": .string("\(services.publicURL())\(FileTarget.path(of: address))?\(link.query)"),
      "expiresAt": .number(JSONNumber(link.expires.milliseconds)),
    ]
    return .json(body.bytes)
  }

  static func response(for written: WrittenObject, at address: ObjectAddress) -> ServerResponse {
    var response = ServerResponse.json(
      FileDocument.bytes(written.metadata, in: address.bucket),
      status: written.isNew ? .created : .ok)
    response.fields[.eTag] = FileFields.tag(written.metadata).text
    if written.isNew { response.fields[.location] = FileTarget.path(of: address) }
    return response
  }
}

extension FilesEndpoint {
  func beginUpload(
    _ request: ServerRequest, _ address: ObjectAddress
  ) async throws(Failure) -> ServerResponse {
    let caller = try await context.caller(of: request)
    let upload = try await files.beginUpload(
      to: address, attributes: FileFields.attributes(of: request), by: caller)
    let body: JSONValue = [
      "bucket": .string(address.bucket.text), "key": .string(address.key.text),
      "uploadId": .string(upload.id),
    ]
    return .json(body.bytes, status: .created)
  }

  func writePart(
    _ request: ServerRequest, id: String, _ query: FileQuery
  ) async throws(Failure) -> ServerResponse {
    let upload = try Self.upload(request, id: id)
    guard let number = query["partNumber"].flatMap({ Int($0) }) else {
      throw Failure(
        .invalidPart, "Writing a part requires partNumber, besides uploadId, in the query.")
    }
    let caller = try await context.caller(of: request)
    let part = try await files.writePart(number, of: upload, try request.upload(), by: caller)
    var response = ServerResponse.json(FileDocument.bytes(part))
    response.fields[.eTag] = EntityTag(part.tag).text
    return response
  }

  func completeUpload(
    _ request: ServerRequest, _ address: ObjectAddress, id: String
  ) async throws(Failure) -> ServerResponse {
    let caller = try await context.caller(of: request)
    guard !FileDigests.areStated(in: request) else {
      throw Failure(
        .notImplemented,
        "Checksums are verified for each part; send none in the request to complete an upload.")
    }
    let parts = try FileDocument.parts(try await context.json(of: request))
    let written = try await files.completeUpload(
      UploadAddress(object: address, id: id),
      UploadCompletion(parts: parts, condition: try WriteConditions.read(request)), by: caller)
    return Self.response(for: written, at: address)
  }

  func abortUpload(
    _ request: ServerRequest, id: String
  ) async throws(Failure) -> ServerResponse {
    let upload = try Self.upload(request, id: id)
    try await files.abortUpload(upload, by: try await context.caller(of: request))
    return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
  }

  func listParts(
    _ request: ServerRequest, id: String, _ query: FileQuery
  ) async throws(Failure) -> ServerResponse {
    let upload = try Self.upload(request, id: id)
    let after = try query.number("part-number-marker", in: 0...UploadPart.numbers.upperBound) ?? 0
    let limit = try query.number("max-parts", in: 1...ObjectListRequest.limitMax)
    let (parts, hasMore) = try await files.parts(
      of: upload, after: after, limit: limit ?? ObjectListRequest.limitMax,
      for: try await context.caller(of: request))
    return .json(FileListingDocument.bytes(parts, of: upload, hasMore: hasMore))
  }

  func listUploads(
    _ bucket: BucketName, _ query: FileQuery, for caller: Caller
  ) async throws(Failure) -> ServerResponse {
    var marker: UploadAddress?
    if let text = query["key-marker"], !text.isEmpty {
      marker = UploadAddress(
        object: ObjectAddress(bucket: bucket, key: try FileTarget.key(text)),
        id: query["upload-id-marker"] ?? "")
    }
    let limit = try query.number("max-uploads", in: 1...ObjectListRequest.limitMax)
    let (uploads, hasMore) = try await files.uploads(
      in: bucket, prefix: query["prefix"] ?? "", after: marker,
      limit: limit ?? ObjectListRequest.limitMax, for: caller)
    return .json(FileListingDocument.bytes(uploads, of: bucket, hasMore: hasMore))
  }

  private static func upload(
    _ request: ServerRequest, id: String
  ) throws(Failure) -> UploadAddress {
    UploadAddress(object: try FileTarget.object(of: request), id: id)
  }
}
