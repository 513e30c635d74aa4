import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// Responses in the format of S3.
enum S3Reply {
  private static let mediaType = "application/xml"
  /// The one owner of all buckets and objects: the service.
  static let owner = "larder"

  static func document(_ writer: consuming XMLWriter) -> ServerResponse {
    ServerResponse(
      fields: [.contentType: mediaType, .cacheControl: "no-store"],
      body: .bytes(writer.finished()))
  }

  /// A success without content.
  static func done(_ status: HTTPResponse.Status = .ok) -> ServerResponse {
    ServerResponse(status: status, fields: [.cacheControl: "no-store"])
  }

  static func fault(_ fault: S3Fault, _ request: ServerRequest) -> ServerResponse {
    var response = document(
      error(fault.code, fault.message, resource: request.path, requestID: request.id))
    response.status = HTTPResponse.Status(code: fault.code.status)
    if fault.code.status == 503 {
      let seconds = ((fault.retryAfter ?? .seconds(1)).milliseconds + 999) / 1000
      response.fields[.retryAfter] = "\(max(1, seconds))"
    }
    return named(response, request)
  }

  /// The content of a refusal by the server itself.
  static func refusal(
    _ code: S3ErrorCode, _ message: String, resource: String, requestID: String
  ) -> RefusalContent {
    RefusalContent(
      mediaType: mediaType,
      bytes: error(code, message, resource: resource, requestID: requestID).finished())
  }

  private static func error(
    _ code: S3ErrorCode, _ message: String, resource: String, requestID: String
  ) -> XMLWriter {
    var writer = XMLWriter("Error", namespace: nil)
    writer.element("Code", code.rawValue)
    writer.element("Message", message)
    writer.element("Resource", resource)
    writer.element("RequestId", requestID)
    return writer
  }

  /// Adds the request's id in the field that S3's clients read.
  static func named(_ response: ServerResponse, _ request: ServerRequest) -> ServerResponse {
    var response = response
    response.fields.set("x-amz-request-id", request.id)
    return response
  }
}

extension XMLWriter {
  mutating func element(_ name: String, tag: String) { element(name, EntityTag(tag).text) }

  mutating func element(_ name: String, _ moment: Timestamp) {
    element(name, HTTPDate(secondsSince1970: moment.milliseconds / 1000).isoText)
  }

  /// Writes a digest in an element named after its algorithm, such as `ChecksumCRC32C`.
  mutating func checksum(_ digest: ContentDigest?) {
    guard let digest else { return }
    element("Checksum\(digest.algorithm.rawValue.uppercased())", Base64.encode(digest.bytes))
  }

  /// Writes a checksum as ``checksum(_:)-(ContentDigest?)`` does, and its type.
  mutating func checksum(_ checksum: ObjectChecksum?) {
    guard let checksum else { return }
    element(
      "Checksum\(checksum.digest.algorithm.rawValue.uppercased())", S3Digests.text(checksum))
    element("ChecksumType", checksum.kind.rawValue)
  }

  /// Writes an owner. The service is the only one, but clients expect the element.
  mutating func owner(_ name: String = "Owner") {
    element(name) { writer in
      writer.element("ID", S3Reply.owner)
      writer.element("DisplayName", S3Reply.owner)
    }
  }

  mutating func grantee() {
    begin(
      "Grantee",
      attributes: "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
        + "xsi:type=\"CanonicalUser\"")
    element("ID", S3Reply.owner)
    element("DisplayName", S3Reply.owner)
    end()
  }
}
