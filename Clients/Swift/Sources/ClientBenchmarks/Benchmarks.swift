import Foundation
import Larder

/// Measures the library as `Scripts/bench clients` asks: one command a line, one reply a line.
///
///     larder-client-benchmarks URL FOLDER
///
/// The store is a file in the folder. `bench.mjs` of the JavaScript client takes the same commands.
@main
struct Benchmarks {
  static func main() async throws {
    guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
      FileHandle.standardError.write(Data("usage: larder-client-benchmarks URL FOLDER\n".utf8))
      exit(64)
    }
    let file = URL(fileURLWithPath: CommandLine.arguments[2])
      .appendingPathComponent("larder.sqlite")
    var options = Larder.Options()
    options.platform = "other"
    let larder = try await Larder(
      url: url, store: .file(file),
      credentials: FileCredentialStore(file.appendingPathExtension("credentials")),
      options: options)
    let measurements = Measurements(larder: larder)
    while let line = readLine() {
      var reply: JSONValue
      do {
        reply = try await measurements.carryOut(JSONValue(parsing: line))
      } catch {
        reply = ["error": .string("\(error)")]
      }
      FileHandle.standardOutput.write(Data((reply.text + "\n").utf8))
    }
    exit(0)
  }
}
