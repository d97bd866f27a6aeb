import ArgumentParser
import Sync

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "verify", abstract: "Run scenario files.")
    @Argument var paths: [String]
}
