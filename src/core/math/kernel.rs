//! Functions that are compiled for every instruction set.

/// Makes a function whose body is compiled for every instruction set and run with the best one. The
/// name before the semicolon stands for the instruction set, to hand on to what is called.
///
/// (A closure would read better, but nothing makes the compiler inline it where the vectors are.)
macro_rules! kernel {
    ($(#[$attribute:meta])* $visible:vis fn $name:ident<$life:lifetime, R>(
        $simd:ident; $($argument:ident: $type:ty),* $(,)?) $(-> $output:ty)? $body:block) => {
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments, reason = "an equation has as many symbols as it has")]
        $visible fn $name<$life, R: $crate::math::Real>($($argument: $type),*) $(-> $output)? {
            struct Body<$life, R: $crate::math::Real> {
                $($argument: $type),*
            }
            impl<$life, R: $crate::math::Real> $crate::math::simd::Kernel for Body<$life, R> {
                #[allow(unused_parens, reason = "empty where there is no output")]
                type Output = ($($output)?);
                #[inline(always)]
                fn with_simd<S: $crate::math::simd::Simd>(self, $simd: S) -> Self::Output {
                    let Self { $($argument),* } = self;
                    $body
                }
            }
            $crate::math::simd::dispatch::<R, _>(Body { $($argument),* })
        }
    };
}
pub(crate) use kernel;
