import Foundation
import Sync

/// The files that this process can have open at once.
enum Descriptors {
    /// What the system's queues, two databases with their readers, a payload and an output take, and some more: where
    /// there are none left, the queues end the program.
    static let neededCount = 24

    /// Whether as many more can be opened as a command needs.
    static var areEnough: Bool { freeCount(upTo: neededCount) == neededCount }

    /// Takes the places of closed standard streams, so that no database is opened there and written to as output.
    ///
    /// What takes them cannot be used in their direction: reading and writing are still the errors they would be.
    static func occupyStandardStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            // The lowest free number is what is opened next.
            _ = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// - Throws: ``SyncError`` `unreadableFile`.
    static func check() throws {
        let count = freeCount(upTo: neededCount)
        guard count < neededCount else { return }
        throw SyncError(
            .unreadableFile,
            "only \(count) more files can be opened at once, and \(neededCount) are needed; "
                + "'ulimit -n 256' allows more")
    }

    private static func freeCount(upTo limit: Int) -> Int {
        let copies = (0..<limit).map { _ in dup(STDIN_FILENO) }.filter { $0 >= 0 }
        for copy in copies { close(copy) }
        return copies.count
    }
}
