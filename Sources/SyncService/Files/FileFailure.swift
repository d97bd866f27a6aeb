public import Foundation

/// Why a file cannot be had or kept.
public enum FileFailure: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The service does not have it, or does not show it to the user. The row may name another one by now: sync.
    case missing(String)
    /// Its address is not one of the service, so it is not asked for: credentials are not sent to another.
    case elsewhere(String)
    /// The folder cannot be read or written: is it there, and is there room?
    case unusableFolder(String)

    /// What happened, in a sentence.
    public var description: String {
        switch self {
        case .missing(let place): "the service has no file '\(place)', or does not show it to the user"
        case .elsewhere(let address): "the file is not at the service but at '\(address)', which is not asked"
        case .unusableFolder(let reason):
            "the folder of files cannot be used; is it there, and is there room? \(reason)"
        }
    }

    /// The description, so that `localizedDescription` is it too.
    public var errorDescription: String? { description }
}
