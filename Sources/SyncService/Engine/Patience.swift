import Foundation
import SyncCore

/// How long a run waits for a service that fails: exponentially longer, by a random part (full jitter), or as long as the
/// service says; kept beyond the run.
actor Patience {
    private static let shortest = 0.5
    private static let longest = 300.0
    /// What a service asks for, and what an earlier run noted: not more than a day. A clock that was set back would else keep a
    /// store from its service for as long.
    private static let mostAsked = 86_400.0

    private static let advice =
        "try again then, or wait longer (EngineSettings.patience, --wait of syncdb), or not at all "
        + "(EngineSettings.earlierWaits, --now of syncdb)"

    private let settings: EngineSettings
    private let tell: @Sendable (SyncEvent) -> Void
    private var failures: Int
    private var tries = 0
    private var waited = 0.0
    private var notBefore: Date?
    /// Whether the service asked for that.
    private var isAsked = false

    init(_ settings: EngineSettings, failures: Int, tell: @escaping @Sendable (SyncEvent) -> Void) {
        self.settings = settings
        self.failures = failures
        self.tell = tell
    }

    func succeeded() { (failures, tries, notBefore, isAsked) = (0, 0, nil, false) }

    /// - Throws: The failure, if it takes too long.
    func wait(after failure: ServiceFailure) async throws {
        failures += 1
        tries += 1
        var seconds = min(Self.longest, Self.shortest * pow(2, Double(min(failures, 20)))) * settings.clock.random()
        isAsked = false
        if case .busy(let after?, _) = failure {
            seconds = min(after.seconds, Self.mostAsked)
            isAsked = seconds > 0
        }
        let until = settings.clock.now().addingTimeInterval(seconds)
        notBefore = until
        guard tries < settings.attempts, waited + seconds <= settings.patience.seconds else {
            guard isAsked, case .busy(_, let text) = failure else { throw failure }
            throw SyncError(
                .serviceFailure,
                "the service asks to wait until \(until.isoText): \(text); \(Self.advice)")
        }
        try await pause(seconds, failure.description)
    }

    /// - Parameters:
    ///   - reason: Why, in half a sentence.
    ///   - isAsked: Whether the service asked for it.
    /// - Throws: ``SyncError`` `serviceFailure`, if it takes too long.
    func wait(until date: Date, _ reason: String, isAsked: Bool = false) async throws {
        let seconds = date.timeIntervalSince(settings.clock.now())
        guard seconds > 0 else { return }
        // No service asked for more: the clock was set back since.
        guard seconds <= Self.mostAsked else { return }
        (notBefore, self.isAsked) = (date, isAsked)
        guard seconds <= settings.patience.seconds else {
            throw SyncError(
                .serviceFailure,
                "the service is left alone until \(date.isoText): \(reason); \(Self.advice)")
        }
        try await pause(seconds, reason)
        (notBefore, self.isAsked) = (nil, false)
    }

    /// Waits, if there is patience for that.
    ///
    /// - Parameter reason: Why, in half a sentence.
    func pauses(_ seconds: Double, _ reason: String) async throws -> Bool {
        guard waited + seconds <= settings.patience.seconds else { return false }
        if seconds > 0 { try await pause(seconds, reason) }
        return true
    }

    private func pause(_ seconds: Double, _ reason: String) async throws {
        waited += seconds
        tell(.waiting(.seconds(seconds), reason: reason))
        try await settings.clock.sleep(.milliseconds(Int64(seconds * 1000)))
    }

    /// What a run that fails leaves to the next one: until when the service is left alone, and how often it failed in a row, which
    /// is 0 where it asked for that.
    var debt: (notBefore: Int64?, failures: Int) {
        guard let notBefore else { return (nil, failures) }
        return (notBefore.milliseconds, isAsked ? 0 : max(1, failures))
    }
}
