import Foundation
import SyncCore
import SyncService

/// A reader of an object in a configuration file. Each error has the path of the invalid member.
struct ConfigurationReader {
    let value: JSONValue
    let path: String
    let variables: ConfigurationVariables
    private var known: [String] = []

    init(_ value: JSONValue, _ path: String, _ variables: ConfigurationVariables) throws {
        guard case .object = value else {
            throw SyncError(.invalidConfiguration, "expected an object", path: path.isEmpty ? "$" : path)
        }
        (self.value, self.path, self.variables) = (value, path, variables)
    }

    // MARK: Members

    func has(_ key: String) -> Bool { value[key] != nil }

    mutating func optional<T>(_ key: String, _ read: (ConfigurationValue) throws -> T) throws -> T? {
        known.append(key)
        guard let member = value[key] else { return nil }
        return try read(ConfigurationValue(member, path(of: key), variables))
    }

    mutating func required<T>(_ key: String, _ read: (ConfigurationValue) throws -> T) throws -> T {
        if let value = try optional(key, read) { return value }
        // The member may be present under a misspelt name.
        if case .object(let members) = value {
            for member in members where !known.contains(member.key) {
                let hint = SimilarName.hint(for: member.key, among: [key])
                if !hint.isEmpty { throw wrong(member.key, "unknown member" + hint) }
            }
        }
        throw wrong(key, "the member is missing")
    }

    /// Throws an error if the object has unknown members. Call it after reading all known members.
    func end() throws {
        guard case .object(let members) = value else { return }
        for member in members where !known.contains(member.key) {
            throw wrong(
                member.key,
                "unknown member" + SimilarName.hint(for: member.key, among: known)
                    + "; use one of \(TruncatedList(known).text)")
        }
    }

    func wrong(_ key: String, _ message: String) -> SyncError {
        SyncError(.invalidConfiguration, message, path: path(of: key))
    }

    private func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}

/// A value of a configuration file, with its path.
struct ConfigurationValue {
    let value: JSONValue
    let path: String
    let variables: ConfigurationVariables

    init(_ value: JSONValue, _ path: String, _ variables: ConfigurationVariables) {
        (self.value, self.path, self.variables) = (value, path, variables)
    }

    func wrong(_ message: String) -> SyncError { SyncError(.invalidConfiguration, message, path: path) }

    func object() throws -> ConfigurationReader { try ConfigurationReader(value, path, variables) }

    func members() throws -> [(key: String, value: ConfigurationValue)] {
        guard case .object(let members) = value else { throw wrong("expected an object") }
        return members.map { ($0.key, ConfigurationValue($0.value, "\(path).\($0.key)", variables)) }
    }

    func elements() throws -> [ConfigurationValue] {
        guard case .array(let elements) = value else { throw wrong("expected an array") }
        return elements.enumerated().map { ConfigurationValue($0.element, "\(path)[\($0.offset)]", variables) }
    }

    /// Returns the text with each `${NAME}` replaced by the value of the environment variable. If the variable is not
    /// set, throws an error if variables are required, and keeps `${NAME}` otherwise.
    func text() throws -> String { try filled().text }

    /// Returns the text with variables replaced. Throws an error if a variable is not set, even if no requests will be
    /// sent.
    func neededText() throws -> String {
        let (text, error) = try filled()
        if let error { throw error }
        return text
    }

    /// Replaces each `${NAME}` by the value of the variable.
    ///
    /// - Returns: The text, and an error if a variable is not set. If variables are required, the error is thrown.
    private func filled() throws -> (text: String, error: SyncError?) {
        guard case .string(let text) = value else { throw wrong("expected a string") }
        var result = ""
        var error: SyncError?
        var rest = text[...]
        while let start = rest.range(of: "${") {
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else { throw wrong("'${' without '}'") }
            let name = String(rest[start.upperBound..<end])
            let value = variables.values[name]
            if value == nil {
                let missing = wrong("the environment variable '\(name)' is not set")
                try variables.record(missing)
                error = missing
            }
            result += rest[..<start.lowerBound] + (value ?? "${\(name)}")
            rest = rest[rest.index(after: end)...]
        }
        return (result + rest, error)
    }

    /// An error message if a variable in the text is set to an empty value; nil otherwise.
    var emptyVariable: String? {
        guard case .string(let text) = value else { return nil }
        let names = text.matches(of: /\$\{([^}]*)\}/).map { String($0.1) }
        return names.first { variables.values[$0]?.isEmpty == true }
            .map { "the environment variable '\($0)' is empty" }
    }

    func choice<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) throws -> Choice
    where Choice.RawValue == String {
        let text = try neededText()
        guard let choice = Choice(rawValue: text) else {
            let names = type.allCases.map(\.rawValue)
            throw wrong(
                "unknown value '\(text)'; use one of \(names.joined(separator: ", "))"
                    + SimilarName.hint(for: text, among: names))
        }
        return choice
    }

    func count() throws -> Int {
        guard case .number(let text) = value, let count = Int(text), count > 0 else {
            throw wrong("expected a positive integer")
        }
        return count
    }

    func duration() throws -> Duration {
        guard case .number(let text) = value, let seconds = Double(text), seconds >= 0, seconds < 1e9 else {
            throw wrong("expected a number of seconds")
        }
        return .milliseconds(Int64(seconds * 1000))
    }

    /// Returns the address of a service.
    ///
    /// - Returns: A placeholder URL if a variable is not set and variables are not required.
    func address() throws -> URL {
        let (text, error) = try filled()
        if error != nil { return URL(fileURLWithPath: "/") }
        guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme), url.host != nil
        else {
            throw wrong("\(spelled) is not a service URL such as https://api.example.com/v1")
        }
        // Requests use the address followed by a path. The rest of the URL would be lost silently.
        if url.query != nil || url.fragment != nil || text.contains("?") || text.contains("#") {
            throw wrong("\(spelled) has a query or a fragment, which requests do not use; remove it")
        }
        if url.user != nil || url.password != nil {
            throw wrong("\(spelled) has a user name or password, which requests do not use; set headers.Authorization")
        }
        return url
    }

    /// The text for errors. Variables are not replaced, because their values may be secrets.
    private var spelled: String { if case .string(let text) = value { "'\(text)'" } else { "the value" } }

    /// Returns a path below the address of the service.
    func pathBelow() throws -> String {
        let text = try text()
        if text.contains("?") || text.contains("#") {
            throw wrong("\(spelled) has a query or a fragment, which requests do not use; remove it")
        }
        return text
    }
}

/// The values of environment variables for `${NAME}`, and the errors for unset variables.
final class ConfigurationVariables {
    let values: [String: String]
    private let areNeeded: Bool
    /// The errors for unset variables, each with the path of its member.
    private(set) var unset: [SyncError] = []

    /// Creates a set of variables.
    ///
    /// - Parameter areNeeded: Whether an unset variable throws an error at once.
    init(_ values: [String: String], areNeeded: Bool) { (self.values, self.areNeeded) = (values, areNeeded) }

    func record(_ error: SyncError) throws {
        if areNeeded { throw error }
        unset.append(error)
    }
}
