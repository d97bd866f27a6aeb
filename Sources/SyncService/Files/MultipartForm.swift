import Foundation

/// A form with one file (RFC 7578).
struct MultipartForm {
    let data: Data
    let type: String

    /// - Parameter field: The name of the field.
    init(_ field: String, _ file: FileUpload) {
        let boundary = "sync-\(UUID().uuidString)"
        let head = """
            --\(boundary)\r
            Content-Disposition: form-data; name="\(Self.quoted(field))"; filename="\(Self.quoted(file.name))"\r
            Content-Type: \(Self.line(file.type))\r
            \r

            """
        data = Data(head.utf8) + file.data + Data("\r\n--\(boundary)--\r\n".utf8)
        type = "multipart/form-data; boundary=\(boundary)"
    }

    /// As browsers do.
    private static func quoted(_ text: String) -> String {
        line(text).replacingOccurrences(of: "\"", with: "%22")
    }

    /// A header is one line.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}
