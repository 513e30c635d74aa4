import FoundationEssentials
import GraphQL

/// The schema of the GraphQL module's own tests.
enum BeastSchema {
  static let schema: Schema = {
    let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let path = "/\(folder)/GraphQLTests/Fixtures/beasts.graphql"
    guard let data = FileManager.default.contents(atPath: path) else {
      fatalError("\(path) cannot be read")
    }
    do {
      return try Schema.build(sdl: String(decoding: data, as: UTF8.self))
    } catch {
      fatalError("\(path): \(error)")
    }
  }()
}
