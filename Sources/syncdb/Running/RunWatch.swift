import Foundation
import Sync

/// Shows how far a run of the engine is, and says what it waits for: on the progress line, or as a remark where nobody sees one.
struct RunWatch {
    /// What takes less is no news to a log.
    private static let leastRemark = Duration.seconds(1)

    private let display: ProgressDisplay?
    private let task: Task<Void, Never>?

    /// - Parameter isQuiet: Whether the caller wants nothing but errors.
    init(_ engine: SyncEngine, isQuiet: Bool) {
        let display = ProgressDisplay(isQuiet: isQuiet)
        self.display = display
        // From here on: a task may begin later than the run.
        let events = engine.events
        task =
            isQuiet
            ? nil
            : Task {
                for await event in events {
                    switch event {
                    case .finished, .failed: return
                    case .waiting(let time, let reason): Self.tell(time, reason, display)
                    case .phase, .pulled, .pushed: ProgressLine(event).map { display?.show($0) }
                    }
                }
            }
    }

    private static func tell(_ time: Duration, _ reason: String, _ display: ProgressDisplay?) {
        let seconds = Int((Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18).rounded(.up))
        let text = VisibleText("waiting \(seconds) s: \(reason)")
        if let display {
            display.say(text)
        } else if time >= leastRemark {
            Terminal.writeError(text)
        }
    }

    /// Waits until all that a run told is said.
    func end() async {
        await task?.value
        display?.clear()
    }

    /// Ends it where the run ended without a word.
    func cancel() {
        task?.cancel()
        display?.clear()
    }
}

extension ProgressLine {
    /// A point in a run of the engine; nil for what is no number.
    fileprivate init?(_ event: SyncEvent) {
        switch event {
        case .pulled(let entity, let rows, let total):
            self.init(label: "pull \(entity)", unit: .rows, completed: rows, total: total)
        case .pushed(let rows): self.init(label: "push", unit: .rows, completed: rows)
        case .phase, .waiting, .finished, .failed: return nil
        }
    }
}
