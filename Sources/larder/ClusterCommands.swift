import ArgumentParser
import Composition

struct Cluster: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Shows the nodes of a cluster, changes its leader, moves into a cluster and out of it.",
    discussion: """
      The commands connect to cluster.postgres of the settings, so they work while no node runs.
      """,
    subcommands: [
      Status.self, Transfer.self, Remove.self, Import.self, Export.self,
    ])

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows nodes, positions, the leader and the inbox.",
      discussion: "larder cluster status --json | jq -r '.nodes[] | select(.live) | .url'")

    @OptionGroup var settings: SettingsOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
      let isJSON = json
      StandardStreams.output(
        try await ClusterCommands.run(settings.load().settings) {
          commands async throws(StartFailure) in try await commands.status(isJSON: isJSON)
        })
    }
  }

  struct Transfer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes another node the leader.",
      discussion: """
        Without --to, the live node that is furthest and has the leader's operations. Waits until it leads.
        """)

    @OptionGroup var settings: SettingsOptions

    @Option(help: "The next leader: its id, the beginning of it, or its URL.")
    var to: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
      let (heir, isJSON) = (to, json)
      StandardStreams.output(
        try await ClusterCommands.run(settings.load().settings) {
          commands async throws(StartFailure) in
          try await commands.transfer(to: heir, isJSON: isJSON)
        })
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Forgets a node that is gone for good.",
      discussion: "A node that runs is not removed: stop it first.")

    @Argument(help: "The node: its id, the beginning of it, or its URL.")
    var node: String

    @OptionGroup var settings: SettingsOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
      let (name, isJSON) = (node, json)
      StandardStreams.output(
        try await ClusterCommands.run(settings.load().settings) {
          commands async throws(StartFailure) in
          try await commands.remove(name, isJSON: isJSON)
        })
    }
  }
}

extension Cluster {
  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Begins a cluster with the database of the data folder.",
      discussion: """
        The service and all nodes must be stopped; make a backup first. Devices keep their tokens, queues and \
        cursors. The folder is that of a node afterwards; other nodes start with empty folders.
        """)

    @OptionGroup var settings: SettingsOptions

    @Flag(help: "Remove what the cluster has.")
    var replace = false

    @Flag(help: "With --replace: remove commits too that the data folder does not have.")
    var acceptLoss = false

    func run() async throws {
      let (replacing, acceptingLoss) = (replace, acceptLoss)
      StandardStreams.output(
        try await ClusterCommands.run(settings.load().settings) {
          commands async throws(StartFailure) in
          try await commands.importFolder(replacing: replacing, acceptingLoss: acceptingLoss)
        })
    }
  }

  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes the data folder of a single machine of the cluster's state.",
      discussion: """
        The nodes must be stopped, and the inbox empty. With --while-running it is a copy of the present moment, \
        without what waits in the inbox.
        """)

    @OptionGroup var settings: SettingsOptions

    @Option(help: "The folder to make, which must not have a database.", completion: .directory)
    var to: String

    @Flag(help: "Copy the present state although nodes run.")
    var whileRunning = false

    @Flag(help: "Export what is left although PostgreSQL has lost commits.")
    var acceptLoss = false

    func run() async throws {
      let (target, isRunning, acceptingLoss) = (to, whileRunning, acceptLoss)
      StandardStreams.output(
        try await ClusterCommands.run(settings.load().settings) {
          commands async throws(StartFailure) in
          try await commands.exportFolder(
            to: target, whileRunning: isRunning, acceptingLoss: acceptingLoss)
        })
    }
  }
}
