import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

extension FilesEndpoint {
  func read(_ request: ServerRequest, _ query: FileQuery) async throws(Failure) -> ServerResponse {
    let address = try FileTarget.object(of: request)
    let grant = try await grant(request, query)
    let isPublic = files.isPublic(address.bucket)
    if request.method == .head {
      return Self.head(
        try await files.describe(address, by: grant), request, isPublic: isPublic)
    }
    let ranges = try await ranges(of: request, address, by: grant)
    let result = try await files.read(
      address, range: ranges?.specs.count == 1 ? ranges?.specs.first : nil,
      conditions: request.preconditions, by: grant)
    switch result {
    case .notModified(let metadata):
      return Self.notModified(metadata, isPublic: isPublic)
    case .rangeNotSatisfiable(let size):
      var response = ServerResponse.failure(
        Failure(.rangeNotSatisfiable, "The object has \(size) bytes."), request: request)
      response.fields[.contentRange] = "bytes */\(size)"
      return response
    case .content(let download):
      return respond(request, download, ranges, isPublic: isPublic)
    }
  }

  private static func head(
    _ metadata: ObjectMetadata, _ request: ServerRequest, isPublic: Bool
  ) -> ServerResponse {
    let verdict = request.preconditions.judge(
      isRead: true, tag: FileFields.tag(metadata), modified: FileFields.modified(metadata))
    switch verdict {
    case .notModified: return notModified(metadata, isPublic: isPublic)
    case .failed:
      return .failure(
        Failure(.preconditionFailed, "A precondition of the request failed."),
        request: request)
    case .proceed:
      // HEAD writes no content; the stream only sets Content-Length.
      return ServerResponse(
        fields: FileFields.fields(of: metadata, isPublic: isPublic),
        body: .stream(length: metadata.size) { _ in })
    }
  }

  private static func notModified(_ metadata: ObjectMetadata, isPublic: Bool) -> ServerResponse {
    ServerResponse(
      status: .notModified, fields: FileFields.validators(of: metadata, isPublic: isPublic))
  }

  /// The requested ranges; nil if `If-Range` names another version of the object (RFC 9110 section
  /// 13.1.5).
  private func ranges(
    of request: ServerRequest, _ address: ObjectAddress, by grant: FileGrant
  ) async throws(Failure) -> ByteRangeSet? {
    guard let ranges = request.head["range"].flatMap({ ByteRangeSet($0) }) else { return nil }
    guard let condition = request.head["if-range"] else { return ranges }
    let metadata = try await files.describe(address, by: grant)
    let holds = RangeCondition(condition.text, now: request.date)?.holds(
      tag: FileFields.tag(metadata), modified: FileFields.modified(metadata))
    return holds == true ? ranges : nil
  }

  private func respond(
    _ request: ServerRequest, _ download: FileDownload, _ ranges: ByteRangeSet?, isPublic: Bool
  ) -> ServerResponse {
    let metadata = download.metadata
    var fields = FileFields.fields(of: metadata, isPublic: isPublic)
    var status = HTTPResponse.Status.ok
    if let ranges, ranges.specs.count == 1 {
      status = .partialContent
      let range = download.range
      fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(metadata.size)"
    }
    if isPublic, let kept = download.kept { cache.keep(kept, fields, for: request) }
    let hasSeveralRanges = ranges?.specs.count ?? 0 > 1
    switch download.source {
    case .bytes(let bytes) where hasSeveralRanges:
      return services.opened.answer(
        request, .bytes(bytes), tag: FileFields.tag(metadata),
        modified: FileFields.modified(metadata), fields: fields)
    case .bytes(let bytes):
      return ServerResponse(status: status, fields: fields, body: .bytes(bytes))
    case .file(let file) where hasSeveralRanges:
      return services.opened.answer(
        request, .file(file), tag: FileFields.tag(metadata),
        modified: FileFields.modified(metadata),
        fields: fields)
    case .file(let file):
      return ServerResponse(status: status, fields: fields, body: .file(file, download.range))
    case .stream(let next):
      return ServerResponse(
        status: status, fields: fields,
        body: .stream(length: download.range.count) { writer in
          while let piece = try await next() { try await writer.write(piece) }
        })
    }
  }
}
