import Foundation

/// The process that started the server. It holds the other end of the standard input.
enum Parent {
    /// Ends this process when standard input is closed, so that the server never outlives the tests.
    static func endWithIt() {
        Thread.detachNewThread {
            while let data = try? FileHandle.standardInput.read(upToCount: 4096), !data.isEmpty {}
            // `exit` ends at once. A graceful end would wait for stalled requests.
            exit(EXIT_SUCCESS)
        }
    }

    /// Prints the port. The server accepts connections now.
    static func announce(port: Int) {
        FileHandle.standardOutput.write(Data("listening on \(port)\n".utf8))
    }
}
