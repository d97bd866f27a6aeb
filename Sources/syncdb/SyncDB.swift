import ArgumentParser

@main
struct SyncDB: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "syncdb")
}
