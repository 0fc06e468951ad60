public import AfarCore
public import Foundation

extension Image: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == Image {
    /// The same as ``Image/imageScaled(to:scale:)``.
    public func imageScaled(to size: CGSize, scale: CGFloat? = nil) -> Image {
        type.imageScaled(to: size, scale: scale)
    }

    /// The same as ``Image/imageAspectScaled(toFit:scale:)``.
    public func imageAspectScaled(toFit size: CGSize, scale: CGFloat? = nil) -> Image {
        type.imageAspectScaled(toFit: size, scale: scale)
    }

    /// The same as ``Image/imageAspectScaled(toFill:scale:)``.
    public func imageAspectScaled(toFill size: CGSize, scale: CGFloat? = nil) -> Image {
        type.imageAspectScaled(toFill: size, scale: scale)
    }

    /// The same as ``Image/imageRounded(withCornerRadius:divideRadiusByImageScale:)``.
    public func imageRounded(withCornerRadius radius: CGFloat, divideRadiusByImageScale: Bool = false) -> Image {
        type.imageRounded(withCornerRadius: radius, divideRadiusByImageScale: divideRadiusByImageScale)
    }

    /// The same as ``Image/imageRoundedIntoCircle()``.
    public func imageRoundedIntoCircle() -> Image { type.imageRoundedIntoCircle() }

    /// Whether every pixel is opaque; false also where nobody has looked.
    public var isOpaque: Bool { type.isOpaque }

    /// Whether a pixel may be transparent.
    public var containsAlphaComponent: Bool { !type.isOpaque }
}
