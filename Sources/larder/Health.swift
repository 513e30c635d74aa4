import ArgumentParser
import Composition

struct Health: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Asks a running service for its health; for container health checks.")

  @OptionGroup var settings: SettingsOptions

  func run() async throws {
    let loaded = try settings.load()
    guard await HealthProbe(loaded.settings).isHealthy() else { throw ExitCode.failure }
  }
}
