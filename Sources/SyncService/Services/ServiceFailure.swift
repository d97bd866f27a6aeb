public import Foundation
import SyncCore

/// A service as a whole fails: nothing of what was asked is known.
public enum ServiceFailure: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// It cannot be reached, or the connection broke.
    case unreachable(String)
    /// It wants to be left alone for a while.
    case busy(after: Duration?, String)
    /// It does not know the user, also with new credentials.
    case unauthorized(String)
    /// It does not know the cursor any more: all has to be pulled again.
    case cursorInvalid
    /// It has less than it had: it was restored from an older copy.
    case restored
    /// The batch is too large.
    case tooLarge
    /// Nothing was done, because something changed that was not pulled: it is pulled, and the changes are sent again.
    case outdated
    /// Nothing was done, because one of the changes is refused.
    case refusedTogether(String)
    /// What it says cannot be understood, or should never happen.
    case malformed(String)
    /// It refuses the request.
    case refused(status: Int, String)

    /// What happened, in a sentence.
    public var description: String { error.message }

    /// The description, so that `localizedDescription` is it too.
    public var errorDescription: String? { description }

    /// Whether another try may succeed.
    var isTransient: Bool {
        switch self {
        case .unreachable, .busy: true
        case .unauthorized, .cursorInvalid, .restored, .tooLarge, .outdated, .refusedTogether, .malformed, .refused:
            false
        }
    }

    /// Whether it may be owed to the page that was asked for.
    var isOfPage: Bool {
        switch self {
        case .malformed, .refused(status: 400..<500, _): true
        case .unreachable, .busy, .unauthorized, .cursorInvalid, .restored, .tooLarge, .outdated, .refusedTogether,
            .refused:
            false
        }
    }

    /// As an error of the engine's.
    var error: SyncError {
        switch self {
        case .unreachable(let text): SyncError(.serviceFailure, "the service fails: \(text)")
        case .busy(_, let text): SyncError(.serviceFailure, "the service asks to wait: \(text)")
        case .unauthorized(let text): SyncError(.unauthorized, "the service does not accept the credentials: \(text)")
        case .cursorInvalid: SyncError(.serviceFailure, "the service does not know where the last pull ended")
        case .restored:
            SyncError(
                .serverRestored,
                "the service has less than it had: it seems to have been restored from an older copy; nothing was deleted"
            )
        case .tooLarge: SyncError(.serviceFailure, "the service takes no request of this size")
        case .outdated:
            SyncError(.serviceFailure, "the service has changes that are not here yet: sync again")
        case .refusedTogether(let text): SyncError(.serviceFailure, "the service refuses the changes: \(text)")
        case .malformed(let text): SyncError(.serviceFailure, "the service's answer cannot be read: \(text)")
        case .refused(let status, let text) where status >= 500:
            SyncError(.serviceFailure, "the service failed with status \(status): \(text)")
        case .refused(let status, let text):
            SyncError(.serviceFailure, "the service refuses with status \(status): \(text)")
        }
    }
}
