/// Which media types shrink: text in all its forms. Images, video and archives are coded already.
enum CompressibleTypes {
  static func contains(_ contentType: String) -> Bool {
    if contentType == "application/json" { return true }
    let type = contentType.prefix { $0 != ";" }.lowercased()
    if type.hasPrefix("text/") { return type != "text/event-stream" }
    if type.hasSuffix("+json") || type.hasSuffix("+xml") { return true }
    switch type {
    case "application/json", "application/javascript", "application/xml", "application/graphql",
      "application/wasm", "application/manifest+json", "image/x-icon", "font/ttf", "font/otf":
      return true
    default:
      return false
    }
  }
}
