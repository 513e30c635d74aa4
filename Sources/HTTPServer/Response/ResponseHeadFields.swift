import HTTPTypes
import HTTPWire

/// Writes the head of a handler's answer.
enum ResponseHeadFields {
  /// Appends status line, the server's fields and the handler's, without the empty line.
  static func append(
    _ response: PreparedResponse, requestID: String, stamp: ResponseStamp,
    to output: inout [UInt8]
  ) {
    StatusLine.append(response.status, to: &output)
    if response.fields[.date] == nil {
      stamp.appendDate(to: &output)
    } else {
      stamp.appendFieldsBesideDate(to: &output)
    }
    output.appendField("Request-Id", requestID.utf8)
    output.append("X-Content-Type-Options: nosniff\r\n")
    for field in response.fields where !isOwned(field.name) {
      output.appendField(field.name.rawName, field.value.utf8)
    }
  }

  /// Whether the server alone says it.
  private static func isOwned(_ name: HTTPField.Name) -> Bool {
    let name = name.canonicalName
    return switch name.utf8.count {
    case 10: name == "connection" || name == "keep-alive" || name == "request-id"
    case 14: name == "content-length"
    case 17: name == "transfer-encoding"
    case 22: name == "x-content-type-options"
    default: false
    }
  }
}
