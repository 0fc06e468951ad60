import Afar
import AfarImage
import Foundation

extension ImageDownloader {
    static let `default` = ImageDownloader(session: AF)
}

enum ImageSamples {
    static func thumbnail(file: URL) async throws {
        let photo = try await AF.request("https://example.com/photo.jpg")
            .serializing(.image(targetSize: CGSize(width: 320, height: 240)))
            .value
        let thumbnail = photo.imageAspectScaled(toFill: CGSize(width: 320, height: 240))
        try thumbnail.data(using: .webP(quality: 75)).write(to: file)
    }

    static func downloader(request: URLRequest, show: @escaping @Sendable (Image) -> Void) {
        let filter = AspectScaledToFillSizeCircleFilter(size: CGSize(width: 100, height: 100))
        let receipt = ImageDownloader.default.download(
            request, filter: filter,
            completion: { response in
                if let image = response.value { show(image) }
            })
        if let receipt { ImageDownloader.default.cancelRequest(with: receipt) }
    }

    static func awaited(request: URLRequest) async throws -> Image {
        let image = try await ImageDownloader.default.image(for: request, filter: BlurFilter(blurRadius: 4))
        return image
    }
}
