import Foundation
import Hummingbird
import Logging

/// A REST service in memory for tests. README.md describes how to start and configure it.
@main
struct RESTServer {
    /// Runs the server. Invalid arguments or an occupied port end it with exit code 1.
    static func main() async {
        do {
            try await serve(Arguments(Array(CommandLine.arguments.dropFirst())))
        } catch {
            let message = (error as? Arguments.Misused)?.usage ?? "\(error)"
            FileHandle.standardError.write(Data("\(message)\n".utf8))
            exit(EXIT_FAILURE)
        }
    }

    /// Answers requests until standard input is closed or a signal ends the process.
    private static func serve(_ arguments: Arguments) async throws {
        var logger = Logger(label: "RESTServer")
        logger.logLevel = .error
        let application = Application(
            responder: Responder(spaces: Spaces()),
            configuration: .init(address: .hostname("127.0.0.1", port: arguments.port)),
            onServerRunning: { channel in
                Parent.endWithIt()
                Parent.announce(port: channel.localAddress?.port ?? arguments.port)
            },
            logger: logger)
        try await application.run()
    }
}
