import ArgumentParser
import Foundation
import Sync

/// How the program ends, for the shell.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// The arguments make no sense; also where the argument parser itself would say 64.
    case usage = 2
    /// More would be deleted than `--max-delete` allows: nothing was written; with a service all else was done.
    case deletionGuard = 3
    /// All was done that could be, but rows are parked or wait for a decision.
    case waiting = 4

    /// The status an error stands for.
    init(_ error: any Error) {
        switch error {
        case let error as RemarkedError: self = ExitStatus(error.error)
        case let error as HintedError: self = ExitStatus(error.error)
        case is Trouble: self = .usage
        case let error as SyncError: self = error.code == .deletionGuard ? .deletionGuard : .failed
        case is UsageError: self = .usage
        case let code as ExitCode: self = ExitStatus(rawValue: code.rawValue) ?? .failed
        default:
            switch SyncDB.exitCode(for: error) {
            case .success: self = .done
            case .validationFailure: self = .usage
            default: self = .failed
            }
        }
    }

    /// Says on standard error what went wrong and ends the program; a request for help goes to standard output.
    static func exit(with error: any Error) -> Never {
        explain(error)
        if let interruption = cause(of: error) as? Interruption { Foundation.exit(interruption.status) }
        Foundation.exit(ExitStatus(error).rawValue)
    }

    private static func cause(of error: any Error) -> any Error {
        switch error {
        case let error as RemarkedError: cause(of: error.error)
        case let error as Trouble: cause(of: error.error)
        default: error
        }
    }

    private static func explain(_ error: any Error) {
        let prefix = ColorOptions.errorStyle.red("error:")
        switch error {
        case let error as RemarkedError:
            explain(error.error)
            Terminal.writeError(error.remark)
        case let error as Trouble: explain(error.error)
        case let error as HintedError: explain(error.error, error.hint)
        case let error as SyncError: explain(error, error.hint)
        case let error as UsageError: Terminal.writeError("\(prefix) \(error.message)")
        case is ExitCode: break
        case let interruption as Interruption: Terminal.writeError("\(prefix) \(interruption.localizedDescription)")
        case _ where ExitStatus(error) == .done: answer(SyncDB.fullMessage(for: error))
        default:
            let message = Suggestion.added(to: SyncDB.fullMessage(for: error))
            let start = message.hasPrefix(SyncDB._errorPrefix) ? "\(prefix) " : "" as VisibleText
            let text = message.dropFirst(start.isEmpty ? 0 : SyncDB._errorPrefix.count)
            Terminal.writeError(start + VisibleText(lines: String(text), upTo: VisibleText.limit))
        }
    }

    private static func explain(_ error: SyncError, _ hint: VisibleText?) {
        Terminal.writeError("\(ColorOptions.errorStyle.red("error:")) \(error.visible)")
        if let hint { Terminal.writeError("hint: \(hint)") }
    }

    /// Prints what was asked for: help, or a script with completions.
    private static func answer(_ text: String) {
        do {
            try Terminal.write(VisibleText(lines: text))
        } catch {
            exit(with: error)
        }
    }
}

/// Arguments that are well formed but cannot be followed here, such as a first import without a model.
struct UsageError: LocalizedError {
    let message: String
    var errorDescription: String? { message }

    init(_ message: String) { self.message = message }
}
