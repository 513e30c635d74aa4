import HTTPTypes
import HTTPWire

/// Collects one response: head, then decoded content.
struct ResponseAssembly: ~Copyable {
  struct Limits {
    let bytesMax: Int
    let decodedRatioMax: Int
    let decodedBytesFree: Int
  }

  private let limits: Limits
  /// Whether the client requested the coding itself and so decodes it.
  private let decodes: Bool
  private var status = HTTPResponse.Status.ok
  private var fields = HTTPFields()
  private var body: [UInt8] = []
  private var inflater: Inflater?

  init(limits: Limits, decodes: Bool) {
    self.limits = limits
    self.decodes = decodes
  }

  mutating func begin(_ head: ResponseHead, method: RequestMethod) throws(HTTPClientError) {
    status = HTTPResponse.Status(code: head.status)
    fields.reserveCapacity(head.fields.count)
    for index in 0..<head.fields.count {
      guard let name = HTTPField.Name(head.fields.name(at: index).text) else {
        throw .responseMalformed(.malformedField)
      }
      fields.append(HTTPField(name: name, value: head.fields.value(at: index)))
    }
    let framing = head.framing(answering: method)
    if case .length(let length) = framing, length > limits.bytesMax { throw .responseTooLarge }
    guard decodes, framing != .none else { return }
    if let format = try codingFormat() {
      do throws(Inflater.Failure) {
        inflater = try Inflater(
          format: format,
          limits: Inflater.Limits(
            bytesMax: limits.bytesMax, ratioMax: limits.decodedRatioMax,
            bytesFree: limits.decodedBytesFree))
      } catch {
        throw Self.clientError(error)
      }
    }
  }

  /// The head alone.
  var head: HTTPClientResponse { HTTPClientResponse(status: status, fields: fields) }

  mutating func append(_ content: UnsafeRawBufferPointer) throws(HTTPClientError) {
    guard var inflater = inflater.take() else {
      guard body.count + content.count <= limits.bytesMax else { throw .responseTooLarge }
      body.append(contentsOf: content)
      return
    }
    do throws(Inflater.Failure) {
      try inflater.decode(content, into: &body)
    } catch {
      throw Self.clientError(error)
    }
    self.inflater = consume inflater
  }

  mutating func finish() throws(HTTPClientError) -> HTTPClientResponse {
    if let inflater = inflater.take() {
      guard inflater.isComplete else { throw .responseUndecodable }
      fields[.contentEncoding] = nil
      fields[.contentLength] = nil
    }
    return HTTPClientResponse(status: status, fields: fields, body: body)
  }

  /// Returns the coding to decode, nil for none; a coding that was not requested is refused.
  private func codingFormat() throws(HTTPClientError) -> Inflater.Format? {
    guard let coding = fields[.contentEncoding]?.lowercased() else { return nil }
    switch coding {
    case "", "identity": return nil
    case "gzip", "x-gzip": return .gzip
    case "deflate": return .deflate
    default: throw .responseUndecodable
    }
  }

  private static func clientError(_ failure: Inflater.Failure) -> HTTPClientError {
    switch failure {
    case .tooLarge: .responseTooLarge
    case .malformed, .outOfMemory: .responseUndecodable
    }
  }
}
