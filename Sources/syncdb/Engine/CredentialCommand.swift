import Foundation
import Sync

/// A command that prints the value of the header that says who the user is: run when it is first needed, and again after the
/// service refused it.
struct CredentialCommand {
    private let arguments: [String]
    private let header: String
    private let timeout: Duration

    /// - Parameter timeout: How long it may take: one that waits for ever would keep the run.
    init(_ arguments: [String], _ header: String, timeout: Duration) {
        (self.arguments, self.header, self.timeout) = (arguments, header, timeout)
    }

    var credentials: ServiceCredentials {
        .header(header) { [arguments, timeout] _ in try Self.output(of: arguments, timeout) }
    }

    private static func output(of arguments: [String], _ timeout: Duration) throws -> String {
        func failure(_ why: String) -> SyncError {
            SyncError(.unauthorized, "the command for credentials, '\(arguments[0])', \(why)")
        }
        guard let process = PipedProcess(["/usr/bin/env"] + arguments) else { throw failure("cannot be run") }
        guard let end = process.wait(until: ContinuousClock.now + timeout) else {
            throw failure("took longer than \(timeout.components.seconds) s and was ended")
        }
        let text = String(decoding: end.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard end.status == 0 else { throw failure("ended with status \(end.status)") }
        guard !text.isEmpty else { throw failure("printed nothing") }
        return text
    }
}

/// A program whose output is gathered while it runs. Only the program itself is waited for: a child that it leaves behind may
/// keep the pipes open for as long as it likes, and keeps no stream of this process.
final class PipedProcess {
    /// How a program ended, and what it had printed by then.
    struct End {
        let status: Int32
        let output: Data
    }

    /// How often it is asked whether the program is over while a child keeps the pipes open, in milliseconds.
    private static let interval = 20
    /// How much of the output is kept.
    private static let mostBytes = 1 << 20

    private let process: pid_t
    private let output: Int32
    private let errors: Int32
    private var isOver = false

    /// Starts a program; nil if it cannot be started.
    ///
    /// - Parameter arguments: Its path, and what it is called with.
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

    /// Waits for the end of the program. What it prints to the error stream goes on to this process's own.
    ///
    /// - Returns: Nil if it is not over by then: it is killed.
    func wait(until end: ContinuousClock.Instant) -> End? {
        var printed = Data()
        while true {
            let status = reap()
            // What was printed before the end is in the pipes by now.
            for piece in Self.pieces(of: errors) { try? FileHandle.standardError.write(contentsOf: piece) }
            for piece in Self.pieces(of: output) where printed.count < Self.mostBytes { printed += piece }
            if let status { return End(status: status, output: printed) }
            let rest = Self.milliseconds(until: end)
            guard rest > 0 else { return nil }
            var streams = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&streams, nfds_t(streams.count), Int32(min(rest, Self.interval)))
            // A stream that was closed is always ready.
            if streams.contains(where: { $0.revents & Int16(POLLHUP) != 0 }) {
                usleep(UInt32(min(rest, Self.interval) * 1000))
            }
        }
    }

    /// The status of the program, if it is over; 128 and the signal that ended it.
    private func reap() -> Int32? {
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == process else { return nil }
        isOver = true
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    /// What can be read of a stream without waiting. A child that prints without end does not keep this from its return.
    private static func pieces(of stream: Int32) -> [Data] {
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

    /// A pipe that no other program inherits, read without waiting.
    private static func openPipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK)
        return (ends[0], ends[1])
    }

    /// No file that is open here is to stay open in what the program leaves behind.
    private static func keepOpenFiles() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
        for file in names.compactMap({ Int32($0) }) where file > STDERR_FILENO { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
    }

    private static func start(_ arguments: [String], output: Int32, errors: Int32) -> pid_t? {
        keepOpenFiles()
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
        // It hears of signals as any program does.
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
