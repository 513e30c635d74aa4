import HTTPServer
import HTTPWire

/// The parsed head of a request without content.
func head(
  _ method: String, _ target: String, _ fields: (String, String)...
) throws -> RequestHead {
  try head(method, target, fields)
}

func head(_ method: String, _ target: String, _ fields: [(String, String)]) throws -> RequestHead {
  var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
  for (name, value) in fields { text += "\(name): \(value)\r\n" }
  var parser = RequestParser()
  let bytes = Array((text + "\r\n").utf8)
  _ = try bytes.withUnsafeBytes { try parser.parse($0) }
  return parser.head
}

func request(
  _ method: String, _ target: String, _ fields: (String, String)...
) throws -> ServerRequest {
  ServerRequest(head: try head(method, target, fields), id: "r-1")
}
