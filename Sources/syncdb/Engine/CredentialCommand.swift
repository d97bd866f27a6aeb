import Foundation
import Sync

/// A command that prints the value of the authentication header. It runs before the first request, and again after the
/// service rejects the value.
struct CredentialCommand {
    private let arguments: [String]
    private let header: String
    private let timeout: Duration

    /// Creates a credential command.
    ///
    /// - Parameter timeout: The time limit of the command. Without a limit, a command could block the run.
    init(_ arguments: [String], _ header: String, timeout: Duration) {
        (self.arguments, self.header, self.timeout) = (arguments, header, timeout)
    }

    var credentials: ServiceCredentials {
        .header(header) { [arguments, timeout] _ in try Self.output(of: arguments, timeout) }
    }

    private static func output(of arguments: [String], _ timeout: Duration) throws -> String {
        func failure(_ why: String) -> SyncError {
            SyncError(.unauthorized, "the credential command '\(arguments[0])' \(why)")
        }
        guard let process = PipedProcess(["/usr/bin/env"] + arguments) else { throw failure("cannot be started") }
        guard let end = process.wait(until: ContinuousClock.now + timeout) else {
            throw failure("took longer than \(timeout.components.seconds) s and was stopped")
        }
        let text = String(decoding: end.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard end.status == 0 else { throw failure("exited with status \(end.status)") }
        guard !text.isEmpty else { throw failure("printed nothing") }
        return text
    }
}

/// A program whose output is collected while it runs. Only the end of the program itself is awaited, because child
/// processes that it leaves behind may keep the pipes open. The program inherits no open files of this process
/// except standard input.
final class PipedProcess {
    /// The exit status of a program and its output.
    struct End {
        let status: Int32
        let output: Data
    }

    /// The longest time in milliseconds between two checks whether the program has ended.
    private static let interval = 20
    /// The number of bytes of output after which further output is ignored.
    private static let mostBytes = 1 << 20

    private let process: pid_t
    private let output: Int32
    private let errors: Int32
    private var isOver = false

    /// Starts a program. Returns nil if that fails.
    ///
    /// - Parameter arguments: The path of the program and its arguments.
    init?(_ arguments: [String]) {
        guard let (output, outputEnd) = Self.openPipe() else { return nil }
        guard let (errors, errorsEnd) = Self.openPipe() else {
            for end in [output, outputEnd] { close(end) }
            return nil
        }
        let started = Self.start(arguments, output: outputEnd, errors: errorsEnd)
        for end in [outputEnd, errorsEnd] { close(end) }
        guard let started else {
            for end in [output, errors] { close(end) }
            return nil
        }
        (process, self.output, self.errors) = (started, output, errors)
    }

    /// Waits for the program to end, and copies its standard error to that of this process.
    ///
    /// - Returns: The exit status and output; nil if the program did not end in time. The deinitializer then kills the
    ///   program.
    func wait(until end: ContinuousClock.Instant) -> End? {
        var printed = Data()
        while true {
            let status = reap()
            // Once the program has ended, all of its output is in the pipes.
            for piece in Self.readableData(of: errors) { try? FileHandle.standardError.write(contentsOf: piece) }
            for piece in Self.readableData(of: output) where printed.count < Self.mostBytes { printed += piece }
            if let status { return End(status: status, output: printed) }
            let rest = Self.milliseconds(until: end)
            guard rest > 0 else { return nil }
            var streams = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&streams, nfds_t(streams.count), Int32(min(rest, Self.interval)))
            // A closed stream always polls as ready, so wait here.
            if streams.contains(where: { $0.revents & Int16(POLLHUP) != 0 }) {
                usleep(UInt32(min(rest, Self.interval) * 1000))
            }
        }
    }

    /// Returns the exit status of the program, or 128 plus the number of the signal that ended it; nil while it runs.
    private func reap() -> Int32? {
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == process else { return nil }
        isOver = true
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    /// Returns the data that a stream has ready. The number of reads is limited, so that a child process with endless
    /// output cannot block the function.
    private static func readableData(of stream: Int32) -> [Data] {
        var pieces: [Data] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<64 {
            let count = read(stream, &bytes, bytes.count)
            guard count > 0 else { break }
            pieces.append(Data(bytes.prefix(count)))
        }
        return pieces
    }

    private static func milliseconds(until end: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = (end - .now).components
        return Int(min(max(0, Double(seconds) * 1000 + Double(attoseconds) / 1e15), 1e9).rounded(.up))
    }

    // MARK: Starting

    /// Opens a pipe that other programs do not inherit. Its reading end does not block.
    private static func openPipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK)
        return (ends[0], ends[1])
    }

    /// Marks all open files of this process except the standard streams as not inherited.
    private static func closeInheritedFilesOnExec() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
        for file in names.compactMap({ Int32($0) }) where file > STDERR_FILENO { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
    }

    private static func start(_ arguments: [String], output: Int32, errors: Int32) -> pid_t? {
        closeInheritedFilesOnExec()
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        guard posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawnattr_init(&attributes) == 0 else { return nil }
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        // The program gets the default signal handling.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let texts = arguments.map { strdup($0) } + [nil]
        let variables = ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in texts + variables { free(text) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, arguments[0], &actions, &attributes, texts, variables)
        return failure == 0 ? process : nil
    }

    deinit {
        if !isOver {
            kill(process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
        }
        for end in [output, errors] { close(end) }
    }
}
