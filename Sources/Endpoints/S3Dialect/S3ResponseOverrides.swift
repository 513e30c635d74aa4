import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire

/// Fields of an answer that the request asks for in its query: `response-content-type` and the like.
struct S3ResponseOverrides {
  static let names: [(parameter: String, field: HTTPField.Name)] = [
    ("response-cache-control", .cacheControl),
    ("response-content-disposition", .contentDisposition),
    ("response-content-encoding", .contentEncoding),
    ("response-content-language", .contentLanguage), ("response-content-type", .contentType),
    ("response-expires", .expires),
  ]

  private var fields = HTTPFields()

  /// Only whoever signs a request may say how it is answered: a link could else be made to anything.
  init(_ call: S3Call) throws(S3Fault) {
    for (parameter, field) in Self.names {
      guard let value = call.query[parameter] else { continue }
      guard call.access.isSigned else {
        throw S3Fault(.invalidRequest, "\(parameter) is for signed requests.")
      }
      guard HTTPField.isValidValue(value) else {
        throw S3Fault(.invalidArgument, "\(parameter) is no value of a field.")
      }
      fields[field] = value
    }
  }

  func apply(to fields: inout HTTPFields) {
    for field in self.fields { fields[field.name] = field.value }
  }
}
