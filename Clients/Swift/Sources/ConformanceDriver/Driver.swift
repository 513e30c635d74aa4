import Foundation
import Larder

/// Carries out the commands of Tests/Conformance with a library on one store.
@main
struct Driver {
  static func main() async throws {
    let arguments = Arguments(CommandLine.arguments)
    guard let url = arguments["--url"].flatMap({ URL(string: $0) }),
      let folder = arguments["--store"]
    else {
      let usage =
        "usage: larder-conformance-driver --url URL --store DIR [--transport urlsession]\n"
      FileHandle.standardError.write(Data(usage.utf8))
      exit(64)
    }
    let clock = ShiftedClock()
    var options = Larder.Options()
    options.platform = "other"
    options.deadline = .seconds(3)
    options.pageSize = 100
    options.pollInterval = .milliseconds(500)
    options.clock = { clock.now }
    // Bodies are not compressed, so that cuts at a byte are where the runner means them to be.
    options.headers = ["Accept-Encoding": "identity"]
    if arguments["--transport"] == "urlsession" { options.useURLSession() }
    let file = URL(fileURLWithPath: folder).appendingPathComponent("larder.sqlite")
    let larder = try await Larder(
      url: url, store: .file(file),
      credentials: FileCredentialStore(file.appendingPathExtension("credentials")),
      options: options)
    let commands = Commands(larder: larder, clock: clock)
    while let line = readLine() {
      let command = try JSONValue(parsing: line)
      var reply: [String: JSONValue] = ["id": command["id"] ?? .null]
      do {
        reply["ok"] = try await commands.carryOut(command)
      } catch {
        let code = (error as? LarderError)?.code ?? (error as? CommandError)?.code ?? "internal"
        reply["error"] = ["code": .string(code), "message": .string("\(error)")]
      }
      FileHandle.standardOutput.write(Data((JSONValue.object(reply).text + "\n").utf8))
    }
    exit(0)
  }
}

/// Options of the command line; others are ignored.
struct Arguments {
  private let texts: [String]

  init(_ texts: [String]) {
    self.texts = texts
  }

  subscript(name: String) -> String? {
    guard let index = texts.firstIndex(of: name), index + 1 < texts.count else { return nil }
    return texts[index + 1]
  }
}

/// The phone's clock, which can be wrong.
final class ShiftedClock: Sendable {
  private let seconds = Locked(0.0)

  var now: Date {
    Date().addingTimeInterval(seconds.withLock { $0 })
  }

  func shift(by seconds: Double) {
    self.seconds.withLock { $0 = seconds }
  }
}

/// A command that the driver cannot carry out.
enum CommandError: Error {
  case unsupported(String)
  case unknownSubject(String)

  var code: String {
    switch self {
    case .unsupported: "unsupported"
    case .unknownSubject: "unknown_subject"
    }
  }
}
