@testable import Composition

/// Settings files and variables: any text is parsed or refused with faults at positions inside it, and parsed
/// settings can be printed.
enum SettingsTextTarget {
  private static let name = "larder.yaml"
  private static let variables = [
    "LARDER_TYPES", "LARDER_UPSTREAM_URL", "LARDER_LISTEN", "LARDER_CACHE_MAX_AGE",
    "LARDER_LIMITS_HEAD", "LARDER_PROXIES_TRUST", "LARDER_CORS_ORIGINS", "LARDER_DATA",
  ]

  /// Runs one input: the first byte selects a variable that holds the text too, after the file, or none.
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first else { return }
    // Bytes that are not UTF-8 are refused before there is a text.
    guard let text = String(validating: input.dropFirst(), as: UTF8.self) else { return }
    read(SettingsSources(file: .init(name: name, text: text)), text)
    guard Int(dial) < variables.count else { return }
    read(SettingsSources(environment: [variables[Int(dial)]: text]), text)
  }

  private static func read(_ sources: SettingsSources, _ text: String) {
    do throws(SettingsFaults) {
      let loaded = try Settings.load(from: sources)
      Finding.require(!SettingsDump.yaml(loaded).isEmpty, "nothing to show")
    } catch {
      Finding.require(!error.faults.isEmpty, "refused without a fault")
      let lines = text.unicodeScalars.count {
        "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0)
      }
      for fault in error.faults {
        Finding.require(!fault.description.isEmpty, "a fault of no words")
        guard case .file(_, let line, let column) = fault.place else { continue }
        Finding.require((1...lines + 2).contains(line), "a fault on line \(line) of \(lines + 1)")
        Finding.require(column >= 0, "a fault in column \(column)")
      }
    }
  }
}
