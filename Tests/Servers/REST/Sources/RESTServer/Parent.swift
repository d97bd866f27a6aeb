import Foundation

/// The process that started the server and holds the other end of its standard input.
enum Parent {
    /// Ends this process when standard input is closed, so that it never outlives the tests, whatever ended them.
    static func endWithIt() {
        Thread.detachNewThread {
            while let data = try? FileHandle.standardInput.read(upToCount: 4096), !data.isEmpty {}
            // At once: requests that are stalled on purpose would keep an orderly end waiting.
            exit(EXIT_SUCCESS)
        }
    }

    /// Tells it the port, now that connections are accepted.
    static func announce(port: Int) {
        FileHandle.standardOutput.write(Data("listening on \(port)\n".utf8))
    }
}
