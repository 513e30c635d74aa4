import ArgumentParser
import Composition

/// The flags of commands that act through the admin routes of the running service.
struct ServiceOptions: ParsableArguments {
  @OptionGroup var settings: SettingsOptions

  @Option(help: "The URL of the service (default: the first of listen).")
  var url: String?

  func client() throws -> AdminClient {
    try AdminClient(settings.load().settings, url: url)
  }
}

struct Users: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Lists the accounts of the running service, ends sessions, disables and deletes accounts.",
    discussion: "For accounts.provider: local. admin.token of the settings authorises the command.",
    subcommands: [List.self, SignOut.self, Disable.self, Enable.self, Delete.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists accounts.")

    @OptionGroup var service: ServiceOptions

    @Option(help: "Only accounts whose address contains this text.")
    var email: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
      StandardStreams.output(
        try await UsersCommand(service.client()).list(email: email, isJSON: json))
    }
  }

  struct SignOut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "sign-out", abstract: "Ends all sessions of an account.")

    @Argument(help: "The id of the account.")
    var id: String

    @OptionGroup var service: ServiceOptions

    func run() async throws {
      StandardStreams.output(try await UsersCommand(service.client()).signOut(id))
    }
  }
}

extension Users {
  struct Disable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Disables an account: its tokens and devices are refused, nothing is deleted.")

    @Argument(help: "The id of the account.")
    var id: String

    @OptionGroup var service: ServiceOptions

    func run() async throws {
      StandardStreams.output(try await UsersCommand(service.client()).disable(id))
    }
  }

  struct Enable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Enables a disabled account; its sessions, devices and queues go on.")

    @Argument(help: "The id of the account.")
    var id: String

    @OptionGroup var service: ServiceOptions

    func run() async throws {
      StandardStreams.output(try await UsersCommand(service.client()).enable(id))
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Deletes an account with its sessions.")

    @Argument(help: "The id of the account.")
    var id: String

    @OptionGroup var service: ServiceOptions

    func run() async throws {
      StandardStreams.output(try await UsersCommand(service.client()).delete(id))
    }
  }
}

struct Devices: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the devices of the running service, and removes them.",
    discussion: "admin.token of the settings authorises the command.",
    subcommands: [List.self, Revoke.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists devices.")

    @OptionGroup var service: ServiceOptions

    @Option(help: "Only the devices of the user with this id.")
    var user: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
      StandardStreams.output(
        try await DevicesCommand(service.client()).list(user: user, isJSON: json))
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes a device with its tokens, its queue and its own data.")

    @Argument(help: "The id of the device.")
    var id: String

    @OptionGroup var service: ServiceOptions

    func run() async throws {
      StandardStreams.output(try await DevicesCommand(service.client()).revoke(id))
    }
  }
}

struct Purge: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Deletes stored data of the running service, by operation, type, id or tag.",
    discussion: """
      Each option can be given several times. admin.token of the settings authorises the command. Local \
      types cannot be purged.
      """)

  @OptionGroup var service: ServiceOptions

  @Option(help: "The responses of an operation.")
  var operation: [String] = []

  @Option(help: "The entities of a type; with --id only those.")
  var type: [String] = []

  @Option(help: "An entity of the type.")
  var id: [String] = []

  @Option(help: "The responses with a tag of @cache.")
  var tag: [String] = []

  @Flag(help: "Print JSON.")
  var json = false

  func run() async throws {
    let report = try await PurgeCommand(service.client()).run(
      operations: operation, types: type, ids: id, tags: tag, isJSON: json)
    if let text = report.text { StandardStreams.output(text) }
    if let failure = report.failure { throw failure }
  }
}
