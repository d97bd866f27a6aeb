import Foundation
import GRDB
import Sync
import SyncTools

// A device that dies: keeps a database in step with a service, and is killed at a commit.
//
//     CrashingDevice DATABASE MODEL CONFIGURATION COMMIT before|after
//
// The commits are counted from 1, those of the engine's tables too. Prints `done` if there were fewer.

/// Kills the process at a commit.
final class Killer: TransactionObserver {
    private var count = 0
    private let fatal: Int
    private let isBefore: Bool

    init(_ fatal: Int, isBefore: Bool) { (self.fatal, self.isBefore) = (fatal, isBefore) }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() throws {
        count += 1
        if count == fatal, isBefore { kill(getpid(), SIGKILL) }
    }

    func databaseDidCommit(_ db: Database) {
        if count == fatal, !isBefore { kill(getpid(), SIGKILL) }
    }

    func databaseDidRollback(_ db: Database) {}
}

let arguments = CommandLine.arguments
guard arguments.count == 6, let fatal = Int(arguments[4]) else {
    print("usage: CrashingDevice DATABASE MODEL CONFIGURATION COMMIT before|after")
    exit(2)
}
let stack = try DataStack(
    model: SyncModel(contentsOf: URL(fileURLWithPath: arguments[2])), at: URL(fileURLWithPath: arguments[1]))
let configuration = try ServiceConfigurationFile(contentsOf: URL(fileURLWithPath: arguments[3]))
let killer = Killer(fatal, isBefore: arguments[5] == "before")
stack.writer.add(transactionObserver: killer, extent: .databaseLifetime)
let engine = try SyncEngine(
    stack: stack, service: configuration.service(), entities: configuration.entities,
    configuration: configuration.engineConfiguration)
try await engine.sync()
print("done")
