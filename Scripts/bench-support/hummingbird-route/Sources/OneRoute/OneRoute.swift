import Foundation
import Hummingbird
import Logging

/// Serves the bytes of one file at `/answer` from memory, as a small Hummingbird service would.
///
///     OneRoute PORT FILE
@main
struct OneRoute {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let port = Int(arguments[1]) else {
      print("usage: OneRoute PORT FILE")
      exit(2)
    }
    let answer = ByteBuffer(bytes: try Data(contentsOf: URL(filePath: arguments[2])))
    var logger = Logger(label: "one-route")
    logger.logLevel = .error
    let router = Router()
    router.get("answer") { _, _ in
      Response(
        status: .ok, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: answer))
    }
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      logger: logger)
    try await application.runService()
  }
}
